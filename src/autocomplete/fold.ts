// Folding: the part of a text that is compared in a search. docs/structures/autocomplete.md specifies it for other
// languages, and test/conformance/folding.json checks all of them.

const MOST_WORDS = 8
/** Occurs in no text, because control characters are rejected. */
export const MARK = '\u0001'
/** ASCII words with single spaces: `fold` can only change the case. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/

/**
 * The text in compatibility decomposition, without marks, in lower case, with single spaces. Empty if nothing is
 * left.
 */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replace(/\p{White_Space}+/gu, ' ')
    .replace(/^ | $/g, '')
}

/** Whether folding leaves nothing; stops at the first character that remains. */
export function foldsToNothing(text: string): boolean {
  return !/[^\p{M}\p{White_Space}]/u.test(text.normalize('NFKD'))
}

/**
 * Folds a plain ASCII query, the usual case, ten times as fast; null for any other, or for more than `most`
 * characters.
 */
export function foldPlain(text: unknown, most: number): string | null {
  return typeof text === 'string' && text.length <= most && PLAIN.test(text) ? text.toLowerCase() : null
}

/**
 * A folded text with U+0001 before each word start except the first. A word starts at the beginning, and at a letter
 * or digit that follows any other character. At most 8 word starts are used.
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
