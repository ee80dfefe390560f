import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../servers/redis.ts'
import { type Program, startProgram } from './programs.ts'

test('the renderers share four places, and the limit can be read and changed', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const start = (path: string, ...args: string[]): Program => startProgram([path, ...args], server.url)

  const pages = start('examples/semaphore/render.ts', 'page', '6')
  await pages.prints('page 4 begins')
  const posters = start('examples/semaphore/render.ts', 'poster', '1')

  expect(await pages.ended()).toMatchObject({ code: 0, errors: '', out: expect.stringContaining('done') })
  expect(await posters.ended()).toMatchObject({ code: 0, errors: '' })
  const limit = await start('examples/semaphore/limit.ts', '8').ended()
  expect(limit).toEqual({ code: 0, errors: '', out: '0 of 8 in use, 0 waiting\n' })
})
