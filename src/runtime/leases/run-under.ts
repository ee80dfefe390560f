import type { TaskLease } from './lease.ts'

/**
 * Runs a task under a lease and gives the lease back; resolves to the result of the task. The lease passes `signal` to
 * the task. Throws LeaseLostError when the lease ended before the task did: the task has run, but perhaps not
 * exclusively.
 */
export async function runUnder<Own extends TaskLease, Value>(
  lease: Own,
  task: (lease: Own) => Promise<Value> | Value,
  signal?: AbortSignal,
): Promise<Value> {
  if (signal) lease.heed(signal)
  lease.begin()
  let value: Value
  try {
    value = await task(lease)
  } catch (error) {
    // The task's own error says more. A lost lease is reported by its signal.
    await lease.end().catch(() => undefined)
    throw error
  }
  await lease.end()
  return value
}
