"""The process that every service is: settings, logging, metrics, clock, servers, channels, errors.

How a service is put together (`services/<name>/`):

    # config.py
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Settings:
        solver_address: str = "127.0.0.1:9001"     # JOINER_CFG_SOLVER_ADDRESS

    # app.py: the only place that names concrete adapters
    def build(settings: Settings, runtime: Runtime) -> App:
        solver = SolverServiceStub(runtime.network.channel(settings.solver_address))
        state = LatestValue[ClusterSnapshot]()
        loop = Loop(state, solver, runtime.clock, runtime.backoff())
        return App(
            servicers=(partial(add_WatcherServiceServicer_to_server, Servicer(state)),),
            tasks={"provisioning": loop.run},
            ready=loop.synced,
        )

    # __main__.py
    run("watcher", Settings, build)

The same `build` runs in a test without sockets and in simulated time: `tests/support/world.py`.

Where to look: `app` (App, Runtime), `run` and `serving` (order of start and stop), `settings` and
`runtime_settings`, `guard` (what every incoming call meets), `errors` (domain error and status),
`channel` and `network` (outgoing calls), `leader`, `backoff`, `latest`, `virtual`, `memory`.
Servicers raise domain errors and clients catch them; neither sees a gRPC status.
"""
