// Whoever waited for jobs and waits no more says so until the server knows. Else its name would stay there as long as its process
// listens, and be called, or given a job, which nobody takes.

import { isFinal } from '../runtime/outage.ts'
import { Retries } from '../runtime/retries.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { startTimer } from '../runtime/timer.ts'
import { type Exchanged, exchange } from './exchange.ts'
import type { Source } from './source.ts'

const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 5000

/** Names that a queue, or a partition of one, may still take for waiting, by what its keys begin with. */
const staying = new WeakMap<Runtime, Map<string, Set<string>>>()

/** Says it once. Rejects as any call does. */
export function leave(source: Source, worker: string): Promise<Exchanged> {
  return exchange(source, { acks: [], limit: 0, leaseMs: 0, worker })
}

/** Resolves when it was said once; what was in vain is said again. Rejects never. */
export function leaveInTheEnd(source: Source, worker: string): Promise<void> {
  return leave(source, worker).then(
    () => undefined,
    (error: unknown) => leaveLater(source, worker, error),
  )
}

/** Tries until it does not fail, or would fail for ever; `failure` is what has failed until now. Keeps no process alive. */
export async function insist(work: () => Promise<unknown>, failure: unknown): Promise<void> {
  const retries = new Retries(FIRST_RETRY_MS, LAST_RETRY_MS)
  for (let last: unknown = failure; !isFinal(last); ) {
    await new Promise<void>((resolve) => startTimer(resolve, retries.after(last)).unref())
    try {
      return void (await work())
    } catch (error) {
      last = error
    }
  }
}

/** One after the other, however many there are. */
function leaveLater(source: Source, worker: string, failure: unknown): void {
  const { runtime, prefix } = source.unit
  const queues = staying.get(runtime) ?? new Map<string, Set<string>>()
  staying.set(runtime, queues)
  const others = queues.get(prefix)
  if (others !== undefined) return void others.add(worker)
  const names = new Set([worker])
  queues.set(prefix, names)
  void leaveAll(source, names, failure).finally(() => queues.delete(prefix))
}

async function leaveAll(source: Source, names: ReadonlySet<string>, failure: unknown): Promise<void> {
  // Those that come meanwhile are among them.
  for (const name of names) await insist(() => leave(source, name), failure)
}
