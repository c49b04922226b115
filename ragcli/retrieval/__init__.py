"""Answer which passages bear on a query: dense, lexical, fusion, reranking, filters."""
