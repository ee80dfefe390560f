import type { Span } from './scope.ts'

/** Another text in the place of a part of the script. */
export interface Edit extends Span {
  readonly text: string
}

/** None begins within another; of several at one place the last comes first. */
export function withEdits(source: string, edits: readonly Edit[]): string {
  const texts: string[] = []
  let at = 0
  for (const { from, to, text } of edits.toReversed().toSorted((one, next) => one.from - next.from)) {
    texts.push(source.slice(at, from), text)
    at = Math.max(at, to)
  }
  return texts.join('') + source.slice(at)
}
