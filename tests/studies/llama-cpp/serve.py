"""usage: serve.py FILE.gguf WINDOW: llama.cpp's own HTTP server for one model; prints its address, and ends when its standard input does."""
import sys

import xllamacpp

settings = xllamacpp.CommonParams()
settings.model.path = sys.argv[1]
settings.n_parallel = 2
settings.n_ctx = 2 * int(sys.argv[2])
settings.port = 0
settings.warmup = False
settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 2
# As exact as it computes.
settings.cache_type_k = settings.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
settings.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
server = xllamacpp.Server(settings)
print(server.listening_address, flush=True)
sys.stdin.read()
