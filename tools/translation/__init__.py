"""The course in another language: catalogues of texts, their contract, and what is made of them."""
