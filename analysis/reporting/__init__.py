"""What is told of the tables of results: sentences, figures, methods, R code, and the report that holds them."""
