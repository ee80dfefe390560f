import type { Runner } from './runner.ts'

/**
 * Resolves when what is said at the end has been heard. Whoever was aborted, or whose instance closes, goes at once: closing
 * waits for it.
 */
export async function lastWord(
  saying: Promise<unknown>,
  { closed }: Pick<Runner, 'closed'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!signal?.aborted && !closed) await saying
}
