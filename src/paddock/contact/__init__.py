"""Who touches whom: candidates (`candidates.py`), shapes (`boxes.py`, `rounds.py`), impulses (`solver.py`).

All of it works on arrays; `engine/contact.py` fills them from the fleets and applies the results.
"""
