import type { Runner } from './runner.ts'

/**
 * Resolves when the server has received the final call. An aborted caller, or one whose instance closes, does not wait
 * here: closing waits for the call.
 */
export async function lastWord(
  saying: Promise<unknown>,
  { closed }: Pick<Runner, 'closed'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!signal?.aborted && !closed) await saying
}
