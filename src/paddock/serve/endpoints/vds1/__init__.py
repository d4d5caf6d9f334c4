"""VDS1 over UDP: states of all cars to every subscriber, commands from any number of senders."""

from paddock.serve.endpoints.vds1.endpoint import Vds1Server

ENDPOINT = Vds1Server
