"""The page that runs in a browser: TypeScript sources, and in dist what the server sends."""
