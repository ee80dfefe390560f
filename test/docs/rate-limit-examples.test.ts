import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../servers/ports.ts'
import { startRedis } from '../servers/redis.ts'
import { startProgram } from './programs.ts'

test('the sixth wrong login in a minute gets a time to retry, and other users get none', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const program = startProgram(['examples/rate-limit/logins.ts'], redis.url)

  for (let n = 0; n < 6; n++) program.write('ada wrong')
  program.write('bob moon')
  await program.prints('200 for bob: welcome')
  program.leave()

  const { code, out, errors } = await program.ended()
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  expect(out.match(/401 for ada/g)).toHaveLength(5)
  expect(out).toMatch(/429 for ada: .*"Retry-After":"\d+"/)
})

test('the fourth concurrent call gets no place, and the API returns its limits', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const port = await freePort()
  const program = startProgram(['examples/rate-limit/api.ts', String(port)], redis.url)
  onTestFinished(() => program.interrupt())
  await program.prints('listening')

  const call = (): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/`, { headers: { 'X-API-Key': 'ada' } })
  const answers = await Promise.all([call(), call(), call(), call()])

  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 429])
  expect(answers[0]?.headers.get('RateLimit-Policy')).toContain('"parallel";q=3;qu="concurrent-requests"')
  // A place is given back after its answer.
  await expect.poll(async () => (await call()).status).toBe(200)
})
