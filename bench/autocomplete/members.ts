// Members with names that are made up of syllables, in lower case for the origin's sake; the same ones each time.

import type { Member } from './contender.ts'

const SYLLABLES =
  'an be chi da el fo gra hu in jo ka lu ma na or pe qui ra sta tu ul va wi xa yo za mon tre lis dor'.split(
    ' ',
  )
const MOST_SCORE = 1_000_000

export function makeMembers(count: number): Member[] {
  const random = seeded(20_261_120)
  const texts = new Set<string>()
  while (texts.size < count) texts.add(makeName(random))
  return Array.from(texts, (text) => ({ text, score: Math.floor(random() * MOST_SCORE) }))
}

/** Beginnings of random members, of one to six letters. */
export function makeQueries(members: readonly Member[], count: number): string[] {
  const random = seeded(7)
  return Array.from({ length: count }, () => {
    const { text = '' } = members[Math.floor(random() * members.length)] ?? {}
    return text.slice(0, 1 + Math.floor(random() * 6))
  })
}

function makeName(random: () => number): string {
  const syllables = 3 + Math.floor(random() * 3)
  return Array.from({ length: syllables }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]).join('')
}

/** A linear congruential generator: numbers from 0 to 1, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
