"""From a problem to a plan: transits, costs, methods of assignment, routes, height layers."""
