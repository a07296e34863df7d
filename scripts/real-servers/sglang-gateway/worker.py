"""An OpenAI-compatible worker for the gateway: 1 ms per word of the prompt before the first token, then 10 ms each.

usage: worker.py PORT MODEL
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PREFILL_SECONDS_PER_WORD = 0.001
SECONDS_PER_TOKEN = 0.01
PORT, MODEL = int(sys.argv[1]), sys.argv[2]

SERVER_INFO = {
    "model_path": MODEL,
    "served_model_name": MODEL,
    "tp_size": 1,
    "dp_size": 1,
    "version": "0",
    "max_total_num_tokens": 65536,
    "internal_states": [{"load": 0}],
}
MODEL_INFO = {
    "model_path": MODEL,
    "tokenizer_path": MODEL,
    "is_generation": True,
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
}
MODELS = {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "sglang", "max_model_len": 4096}]}
LOAD = [{"dp_rank": 0, "num_reqs": 0, "num_waiting_reqs": 0, "num_tokens": 0}]

# What the gateways query before they send requests to a worker.
PAGES = {
    "/health": {},
    "/health_generate": {},
    "/v1/models": MODELS,
    "/get_server_info": SERVER_INFO,
    "/server_info": SERVER_INFO,
    "/get_model_info": MODEL_INFO,
    "/model_info": MODEL_INFO,
    "/get_load": LOAD,
    "/v1/loads": LOAD,
}


class Worker(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        page = PAGES.get(self.path.split("?")[0])
        if page is None:
            self.answer({"error": {"message": "not found", "code": 404}}, 404)
        else:
            self.answer(page)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if self.path != "/v1/chat/completions":
            return self.answer({"error": {"message": "not found", "code": 404}}, 404)
        tokens = body.get("max_tokens") or body.get("max_completion_tokens") or 16
        if tokens < 0:
            return self.answer({"error": {"message": "max_tokens must be positive", "code": 400}}, 400)
        words = sum(len(str(message.get("content")).split()) for message in body.get("messages", []))
        usage = {"prompt_tokens": words, "completion_tokens": tokens, "total_tokens": words + tokens}
        head = {"id": f"chatcmpl-{time.monotonic_ns()}", "created": int(time.time()), "model": MODEL}
        time.sleep(PREFILL_SECONDS_PER_WORD * words)
        if body.get("stream"):
            with_usage = (body.get("stream_options") or {}).get("include_usage")
            self.stream(head, tokens, usage if with_usage else None)
        else:
            time.sleep(SECONDS_PER_TOKEN * tokens)
            message = {"role": "assistant", "content": "tok " * tokens}
            choices = [{"index": 0, "message": message, "finish_reason": "length"}]
            self.answer({**head, "object": "chat.completion", "choices": choices, "usage": usage})

    def answer(self, body, status=200):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, head, tokens, usage):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        head = {**head, "object": "chat.completion.chunk"}
        try:
            for i in range(tokens):
                reason = "length" if i == tokens - 1 else None
                choice = {"index": 0, "delta": {"content": f"tok{i} "}, "finish_reason": reason}
                self.event(json.dumps({**head, "choices": [choice]}))
                time.sleep(SECONDS_PER_TOKEN)
            if usage:
                self.event(json.dumps({**head, "choices": [], "usage": usage}))
            self.event("[DONE]")
            self.wfile.write(b"0\r\n\r\n")
        except OSError:  # the client has closed the stream
            self.close_connection = True

    def event(self, text):
        data = f"data: {text}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


Server(("127.0.0.1", PORT), Worker).serve_forever()
