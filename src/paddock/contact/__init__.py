"""Who touches whom: bodies (`bodies.py`), candidates (`candidates.py`), shapes (`boxes.py`, `touches.py`),
impulses (`solver.py`).

All of it works on arrays; `engine/contact.py` fills them from the fleets and applies the results.
"""
