"""The server of a study: sessions, places and payments in a database, the page and the calls of docs/api.md, the dashboard."""
