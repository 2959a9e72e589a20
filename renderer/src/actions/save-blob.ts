/** Saves a stored file where downloads go: its bytes as they are. */
import { serviceFetch } from "../service/connection.ts";
import { notifyFailure } from "../state/notices.ts";

export async function saveBlob(hash: string, name: string): Promise<void> {
  try {
    const response = await serviceFetch(`/blobs/${hash}`, AbortSignal.timeout(600_000));
    if (!response.ok) throw new Error(`The service answered ${response.status} when asked for ${name}.`);
    const url = URL.createObjectURL(await response.blob());
    const link = document.createElement("a");
    link.href = url;
    link.download = name.slice(name.lastIndexOf("/") + 1);
    link.click();
    // The download has its own hold of the bytes once it has begun.
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  } catch (error) {
    notifyFailure(error);
  }
}
