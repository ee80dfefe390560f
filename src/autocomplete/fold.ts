// Folding: what of a text counts when it is searched. docs/structures/autocomplete.md tells it to other languages,
// and test/conformance/folding.json holds all of them to it.

const MOST_WORDS = 8
/** Not in any text: control characters are refused. */
export const MARK = '\u0001'
/** ASCII in single spaces: of all that `fold` does, only its case can change. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/

/** Decomposed by compatibility, without marks, in lower case, with single spaces. Empty for what is nothing else. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replace(/\p{White_Space}+/gu, ' ')
    .replace(/^ | $/g, '')
}

/** Whether nothing is left of it when it is folded; found at its first character that is. */
export function foldsToNothing(text: string): boolean {
  return !/[^\p{M}\p{White_Space}]/u.test(text.normalize('NFKD'))
}

/** What most queries are, folded ten times as fast; null for any other, and for more characters than `most`. */
export function foldPlain(text: unknown, most: number): string | null {
  return typeof text === 'string' && text.length <= most && PLAIN.test(text) ? text.toLowerCase() : null
}

/**
 * A folded text with U+0001 before each word start but the first. A word starts at the beginning, and at a letter
 * or digit behind a character that is neither; at most 8 count.
 */
export function markWords(folded: string): string {
  let [marked, from, words] = ['', 0, 1]
  for (const { index } of folded.matchAll(/(?<![\p{L}\p{N}])[\p{L}\p{N}]/gu)) {
    if (index === 0) continue
    if (words === MOST_WORDS) break
    marked += folded.slice(from, index) + MARK
    from = index
    words += 1
  }
  return marked + folded.slice(from)
}
