// Texts that have much in common: with each other, with themselves, or little.

const SYLLABLES = 'ka mo ri ten lu sa bo vin dre na po gi el wu ash to'.split(' ')
const WORDS = Array.from({ length: 8 }, (_, at) => at)

/** Makes the text of a number; others for other numbers. */
export type Texts = (at: number) => string

export const alike: Texts = (at) => `the long common beginning of every title ${at}`

export const twoWords: Texts = (at) => `${word(at)} ${word(at * 7 + 3)}`

/** 511 bytes: eight words that begin with the same 59 letters. */
export const long: Texts = (at) =>
  WORDS.map((place) => `${'a'.repeat(59)}${((at * 8 + place) % 1296).toString(36).padStart(3, '0')}`).join(
    ' ',
  )

function word(at: number): string {
  let made = ''
  for (let left = (at * 2_654_435_761) % 2 ** 32; made.length < 7; left = Math.floor(left / 16)) {
    made += SYLLABLES[left % 16]
  }
  return made
}
