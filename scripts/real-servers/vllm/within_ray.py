"""vLLM's API server inside a Ray actor, whose engine reports its metrics to Ray: within_ray.py MODEL NAME PORT METRICS_PORT [ARGUMENT ...]"""

import signal
import sys

import ray

MODEL, NAME, PORT, METRICS_PORT, *ARGUMENTS = sys.argv[1:]


@ray.remote(num_cpus=1)
class Replica:
    async def serve(self):
        import uvicorn
        from vllm.engine.arg_utils import AsyncEngineArgs
        from vllm.entrypoints.launchers.api_server.app_state import init_app_state
        from vllm.entrypoints.launchers.app import build_app
        from vllm.entrypoints.launchers.cli_args import make_arg_parser
        from vllm.utils.argparse_utils import FlexibleArgumentParser
        from vllm.v1.engine.async_llm import AsyncLLM
        from vllm.v1.metrics.ray_wrappers import RayPrometheusStatLogger

        args = make_arg_parser(FlexibleArgumentParser()).parse_args(
            ["--model", MODEL, "--served-model-name", NAME, *ARGUMENTS]
        )
        engine = AsyncLLM.from_engine_args(
            AsyncEngineArgs.from_cli_args(args), stat_loggers=[RayPrometheusStatLogger]
        )
        tasks = await engine.get_supported_tasks()
        app = build_app(args, tasks, engine.model_config)
        await init_app_state(engine, app.state, args, tasks)
        await uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=int(PORT), log_level="warning")).serve()


# Ray ends its own processes when the driver ends in an orderly way.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
ray.init(
    num_cpus=2,
    dashboard_host="127.0.0.1",
    _node_ip_address="127.0.0.1",
    _metrics_export_port=int(METRICS_PORT),
    object_store_memory=200_000_000,
)
ray.get(Replica.remote().serve.remote())
