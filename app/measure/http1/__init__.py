"""One HTTP/1.1 exchange and what is made of it; the kinds above decide where to and how often."""
