import { onAbort } from './aborts.ts'
import { startTimer, type Timer } from './timer.ts'

interface Alarm {
  late(): void
  aborted(reason: unknown): void
}

/**
 * Calls one of both, once: `late` after `ms`, or `aborted` when the signal aborts, or at once if it has. Returns a
 * function that cancels both. No timer is started when listening to the signal fails.
 */
export function setAlarm(ms: number, signal: AbortSignal | undefined, { late, aborted }: Alarm): () => void {
  let timer: Timer | null = null
  const forget = onAbort(signal, () => {
    timer?.cancel()
    aborted(signal?.reason)
  })
  if (signal?.aborted) return forget
  timer = startTimer(() => {
    forget()
    late()
  }, ms)
  return () => {
    timer?.cancel()
    forget()
  }
}
