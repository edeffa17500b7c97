"""What assay runs in the user's Python interpreter: it needs Python 3.8 and NumPy.

server.py takes requests one by one; each goes to an object of roles/, named by its file; wire.py is the form of
messages, values.py that of arrays; scripts.py finds functions in files; failures.py turns exceptions into answers.
"""
