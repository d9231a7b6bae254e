"""What is sold: catalogues as columns, pools as templates, and what a claim may still become.

Apart because it knows no bin: only requirements, amounts and prices.
"""
