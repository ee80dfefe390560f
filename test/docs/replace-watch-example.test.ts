import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../servers/redis.ts'
import { startProgram } from './programs.ts'

test('WATCH and the scripts find the same names, and each is measured with 1, 2, 5 and 10 clients', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())

  const { code, out, errors } = await startProgram(
    ['examples/replace-watch/compare.ts', '0.1'],
    redis.url,
  ).ended()

  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  const [same, , ...rows] = out.trim().split('\n')
  expect(same).toBe('the same names for 1028 prefixes')
  expect(
    rows.map((row) =>
      row
        .trim()
        .replaceAll(/\d+\/s|\d+\.\d\d/g, '#')
        .replaceAll(/ +/g, ' '),
    ),
  ).toEqual(['1', '2', '5', '10'].map((clients) => `${clients} # # # #`))
})
