// Whoever waited for jobs and waits no more says so until the server knows. Else its name would stay there as long as its process
// listens, and be called, or given a job, which nobody takes.

import { inTheEnd } from '../../runtime/time/in-the-end.ts'
import type { Runtime } from '../../runtime/connection/runtime.ts'
import { type Exchanged, exchange } from './exchange.ts'
import type { Source } from '../source/source.ts'

/** Others are to be served as well. */
const MOST_AT_ONCE = 100

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

/** One stands for all: once the server has heard that it leaves, the others say so, too. */
async function leaveAll(source: Source, names: Set<string>, failure: unknown): Promise<void> {
  // Those that come meanwhile are among them.
  for (const name of names) {
    await inTheEnd(() => leave(source, name), failure)
    names.delete(name)
    await leaveTogether(source, names)
  }
}

/** Until one has failed. */
async function leaveTogether(source: Source, names: Set<string>): Promise<void> {
  const leaving = async (name: string): Promise<void> => {
    await leave(source, name)
    names.delete(name)
  }
  for (const all = [...names]; all.length > 0; ) {
    const left = await Promise.allSettled(all.splice(0, MOST_AT_ONCE).map(leaving))
    if (left.some(({ status }) => status === 'rejected')) return
  }
}
