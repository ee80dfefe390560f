import type { TaskLease } from './lease.ts'

/**
 * Runs a task under a lease and gives it back; resolves to what the task gave. `signal` is told to the task by
 * the lease. Throws LeaseLostError when the lease ended before the task did: it was done, but perhaps not alone.
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
    // What the task threw says more; a lease that was lost is told by its signal.
    await lease.end().catch(() => undefined)
    throw error
  }
  await lease.end()
  return value
}
