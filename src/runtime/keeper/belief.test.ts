import { expect, test } from 'vitest'
import { AmbiguousError, DriverError } from '../errors/errors.ts'
import { Belief } from './belief.ts'
import { End } from './grant.ts'

const MINUTE = 60_000

/** A lease of a minute, granted just now, when the server's clock was at 1000. */
function granted(): Belief {
  return new Belief(new End(performance.now() + MINUTE), 1000 + MINUTE)
}

const refused = new DriverError('forbidden', 'no right')
const unanswered = new AmbiguousError('the call')

const left = (belief: Belief): number => Math.round(belief.leftMs / 1000)

test('once answered, an extension counts from its request', () => {
  const belief = granted()

  belief.answered(belief.ask(3 * MINUTE), { nowMs: 2000, expiresAtMs: 2000 + 3 * MINUTE })

  expect(left(belief)).toBe(180)
  expect(belief.expiresAtMs).toBe(2000 + 3 * MINUTE)
})

test('the earlier end applies while a shortening is under way, and the previous end after a rejection', () => {
  const belief = granted()

  const question = belief.ask(10_000)
  expect(left(belief)).toBe(10)
  belief.failed(question, refused)

  expect(left(belief)).toBe(60)
})

test("without an answer the earlier end applies, also by the server's clock", () => {
  const belief = granted()

  belief.failed(belief.ask(3 * MINUTE), unanswered)
  expect(left(belief)).toBe(60)
  belief.failed(belief.ask(10_000), unanswered)

  expect(left(belief)).toBe(10)
  expect(Math.round(belief.expiresAtMs / 1000)).toBe(11)
})

test('of two concurrent extensions the one carried out last applies, in any order of their answers', () => {
  for (const order of ['as asked', 'the other way round']) {
    const belief = granted()
    const [first, second] = [belief.ask(MINUTE), belief.ask(2 * MINUTE)]
    const answers = [
      () => belief.answered(first, { nowMs: 2000, expiresAtMs: 2000 + MINUTE }),
      () => belief.answered(second, { nowMs: 2001, expiresAtMs: 2001 + 2 * MINUTE }),
    ]

    for (const answer of order === 'as asked' ? answers : answers.toReversed()) answer()

    expect(left(belief)).toBe(120)
  }
})

test('of two extensions carried out in the same millisecond the earlier end applies', () => {
  for (const [one, other] of [
    [10_000, MINUTE],
    [MINUTE, 10_000],
  ] as const) {
    const belief = granted()
    const questions = [belief.ask(one), belief.ask(other)]

    for (const question of questions) {
      belief.answered(question, { nowMs: 2000, expiresAtMs: 2000 + question.leaseMs })
    }

    expect(left(belief)).toBe(10)
  }
})

test("a later answer applies even if the server's clock was set back", () => {
  const belief = granted()
  belief.answered(belief.ask(MINUTE), { nowMs: 900_000, expiresAtMs: 900_000 + MINUTE })

  belief.answered(belief.ask(3 * MINUTE), { nowMs: 2000, expiresAtMs: 2000 + 3 * MINUTE })

  expect(left(belief)).toBe(180)
})
