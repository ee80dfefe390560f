import type { Span } from './scope.ts'

/** Another text in the place of a part of the script. */
export interface Edit extends Span {
  readonly text: string
}

/** From the last to the first: each moves what is behind it. */
export function withEdits(source: string, edits: readonly Edit[]): string {
  let text = source
  for (const { from, to, text: other } of edits.toSorted((one, next) => next.from - one.from))
    text = text.slice(0, from) + other + text.slice(to)
  return text
}
