import type { Runtime } from "../../engine/onnx/index.ts";
import { createRuntime, loadBinding } from "./onnxruntime.ts";
import { chooseProvider, type ProviderBackend } from "./providers.ts";

/** The runtime of this machine. `threads`: inside one operator. Throws WorkbenchError where the native library cannot be loaded. */
export async function openRuntime(options: { readonly threads?: number } = {}): Promise<Runtime> {
  const binding = await loadBinding();
  const backends: readonly ProviderBackend[] = binding.listSupportedBackends();
  return createRuntime(binding, { ...options, provider: chooseProvider(backends) });
}
