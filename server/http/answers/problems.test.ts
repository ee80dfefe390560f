import { DriverError, UnsupportedServerError } from 'perilune'
import { expect, test } from 'vitest'
import { toProblem } from './problems.ts'
import { toProblemAnswer } from './problem-documents.ts'

test('an error that lasts until an operator repairs the store does not ask for a retry', () => {
  const lasting = [
    new DriverError('script-failed', 'claim: WRONGTYPE'),
    new DriverError('forbidden', 'claim: NOPERM'),
    new DriverError('unknown-layout', 'claim: layout 9'),
    new UnsupportedServerError('too old'),
  ]
  for (const error of lasting) {
    const answer = toProblemAnswer(error)
    expect([answer?.headers, answer?.document.status, answer?.document.code]).toEqual([{}, 503, error.code])
    expect(answer?.document.detail).not.toMatch(/try again|WRONGTYPE|NOPERM|layout 9/)
    expect(toProblem(error)?.message).not.toMatch(/try again/)
  }
  const passing = new DriverError('store-full', 'claim: OOM')
  expect(toProblemAnswer(passing)?.headers).toEqual({ 'Retry-After': '1' })
  expect(toProblem(passing)?.message).toMatch(/try again/)
})
