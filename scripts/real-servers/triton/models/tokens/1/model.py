import queue
import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils

PREFILL_SECONDS_PER_WORD = 0.001
SECONDS_PER_TOKEN = 0.005


class TritonPythonModel:
    """A decoupled "language model": 1 ms per word of the prompt before the first token, then a token every 5 ms.

    One thread serves all streams: sending responses and incrementing metrics from many threads ends the whole server.
    """

    def initialize(self, args):
        labels = {"model": args["model_name"], "version": args["model_version"]}
        family = pb_utils.MetricFamily
        # A family must stay referenced as long as its metrics.
        self.families = [
            family(name="demo_output_tokens", description="Tokens sent by the demo model", kind=family.COUNTER),
            family(name="demo_requests_running", description="Requests in generation", kind=family.GAUGE),
        ]
        self.tokens, self.running = (each.Metric(labels=labels) for each in self.families)
        self.inbox, self.stopping = queue.Queue(), False
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def execute(self, requests):
        for request in requests:
            text = pb_utils.get_input_tensor_by_name(request, "text_input").as_numpy().reshape(-1)[0].decode()
            limit = pb_utils.get_input_tensor_by_name(request, "max_tokens")
            tokens = 16 if limit is None else int(limit.as_numpy().reshape(-1)[0])
            first_due = time.monotonic() + PREFILL_SECONDS_PER_WORD * len(text.split())
            self.inbox.put(Stream(request.get_response_sender(), tokens, first_due))
        return None

    def serve(self):
        streams = []
        while streams or not self.stopping:
            try:
                while True:
                    streams.append(self.inbox.get(block=not streams, timeout=0.1))
            except queue.Empty:
                pass
            self.running.set(len(streams))
            now = time.monotonic()
            streams = [stream for stream in streams if stream.due > now or stream.step(now, self.tokens)]
            self.running.set(len(streams))
            time.sleep(0.001)

    def finalize(self):
        self.stopping = True
        self.thread.join()


class Stream:
    def __init__(self, sender, tokens, due):
        self.sender, self.tokens, self.due, self.sent = sender, tokens, due, 0

    def step(self, now, counter):
        """Sends what is due. False when the stream has ended."""
        if self.sender.is_cancelled():
            error = pb_utils.TritonError("cancelled", pb_utils.TritonError.CANCELLED)
            self.sender.send(pb_utils.InferenceResponse(error=error), flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
            return False
        if self.sent == self.tokens:
            self.sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
            return False
        text = np.array([f"tok{self.sent} ".encode()], dtype=np.object_)
        self.sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("text_output", text)]))
        counter.increment(1)
        self.sent, self.due = self.sent + 1, now + SECONDS_PER_TOKEN
        return True
