"""How fast it is, where the time goes, and beside whom: what ``tsil bench`` measures.

Everything is timed in processes of their own that stay up for the whole run and take turns
(``worker``), so that a ratio compares what happened on one machine at about the same time.
"""
