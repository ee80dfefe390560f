import { expect, test } from 'vitest'
import { AmbiguousError, DriverError } from '../errors/errors.ts'
import { Belief } from './belief.ts'
import { End } from './grant.ts'

const MINUTE = 60_000

/** A lease of a minute that was granted just now, when the server's clock was at 1000. */
function granted(): Belief {
  return new Belief(new End(performance.now() + MINUTE), 1000 + MINUTE)
}

const refused = new DriverError('forbidden', 'no right')
const unanswered = new AmbiguousError('the call')

const left = (belief: Belief): number => Math.round(belief.leftMs / 1000)

test('an extension counts from when it was asked for, once it is answered', () => {
  const belief = granted()

  belief.answered(belief.ask(3 * MINUTE), { nowMs: 2000, expiresAtMs: 2000 + 3 * MINUTE })

  expect(left(belief)).toBe(180)
  expect(belief.expiresAtMs).toBe(2000 + 3 * MINUTE)
})

test('while a shortening is under way the earlier end counts, and after a refusal the end that it had', () => {
  const belief = granted()

  const question = belief.ask(10_000)
  expect(left(belief)).toBe(10)
  belief.failed(question, refused)

  expect(left(belief)).toBe(60)
})

test('without an answer the earlier end counts, by the clock of the server, too', () => {
  const belief = granted()

  belief.failed(belief.ask(3 * MINUTE), unanswered)
  expect(left(belief)).toBe(60)
  belief.failed(belief.ask(10_000), unanswered)

  expect(left(belief)).toBe(10)
  expect(Math.round(belief.expiresAtMs / 1000)).toBe(11)
})

test('of two extensions at once the one counts that the server carried out last, in whatever order they are answered', () => {
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

test('of two extensions at once that the server carried out in the same millisecond the earlier end counts', () => {
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

test('an answer counts that comes after the others, also when the clock of the server was set back', () => {
  const belief = granted()
  belief.answered(belief.ask(MINUTE), { nowMs: 900_000, expiresAtMs: 900_000 + MINUTE })

  belief.answered(belief.ask(3 * MINUTE), { nowMs: 2000, expiresAtMs: 2000 + 3 * MINUTE })

  expect(left(belief)).toBe(180)
})
