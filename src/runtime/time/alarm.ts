import { onAbort } from './aborts.ts'
import { startTimer, type Timer } from './timer.ts'

interface Alarm {
  late(): void
  aborted(reason: unknown): void
}

/**
 * Calls one of both, once: `late` after `ms`, or `aborted` when the signal aborts, or now where it has. Returns how to call neither. No
 * timer is started where the signal cannot be listened to.
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
