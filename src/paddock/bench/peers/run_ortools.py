"""Run by the peers' Python: tours by OR-Tools, guided local search. Input: JSON on stdin; argument: seconds."""

import json
import sys
import time

from ortools.constraint_solver import pywrapcp, routing_enums_pb2


def main() -> None:
    """Print one JSON object: the tasks of each vehicle in order, and the time (s) it took.

    Locations are where vehicles start, their homes, then the tasks; `ways` are whole numbers between all of them.
    """
    problem = json.load(sys.stdin)
    vehicles, ways = problem["vehicles"], problem["ways"]
    starts, homes = list(range(vehicles)), list(range(vehicles, 2 * vehicles))
    manager = pywrapcp.RoutingIndexManager(len(ways), vehicles, starts, homes)
    routing = pywrapcp.RoutingModel(manager)
    routing.SetArcCostEvaluatorOfAllVehicles(routing.RegisterTransitMatrix(ways))
    search = pywrapcp.DefaultRoutingSearchParameters()
    search.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.PARALLEL_CHEAPEST_INSERTION
    search.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    search.time_limit.FromMilliseconds(int(1000 * float(sys.argv[1])))
    started, before = time.perf_counter(), time.process_time()
    found = routing.SolveWithParameters(search)
    seconds, processor, orders = time.perf_counter() - started, time.process_time() - before, []
    for vehicle in range(vehicles):
        order, at = [], found.Value(routing.NextVar(routing.Start(vehicle)))
        while not routing.IsEnd(at):
            order.append(manager.IndexToNode(at) - 2 * vehicles)
            at = found.Value(routing.NextVar(at))
        orders.append(order)
    print(json.dumps({"orders": orders, "seconds": seconds, "processor": processor}))


if __name__ == "__main__":
    main()
