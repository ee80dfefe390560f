import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../servers/redis.ts'
import { type Program, startProgram } from './programs.ts'

async function setup(): Promise<(file: string, ...args: string[]) => Program> {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  return (file, ...args) => {
    const program = startProgram([`examples/feed/${file}`, ...args], redis.url)
    onTestFinished(() => {
      program.interrupt()
    })
    return program
  }
}

test('in the chat room each sees what the other writes, and nothing of their own', async () => {
  const start = await setup()
  const [ada, bob] = [start('chat.ts', 'ada'), start('chat.ts', 'bob')]
  await Promise.all([ada.prints('you are ada'), bob.prints('you are bob')])

  ada.write('hello')
  await bob.prints('ada: hello')
  bob.write('hello yourself')
  await ada.prints('bob: hello yourself')

  ada.leave()
  bob.leave()
  expect(await ada.ended()).toMatchObject({ code: 0, errors: '', out: expect.not.stringContaining('ada:') })
  expect(await bob.ended()).toMatchObject({ code: 0, errors: '' })
})

test('who comes back to the chat room gets what was missed, once', async () => {
  const start = await setup()
  const first = start('chat.ts', 'bob')
  const ada = start('chat.ts', 'ada')
  ada.write('one')
  await first.prints('ada: one')
  first.leave()
  expect(await first.ended()).toMatchObject({ code: 0 })

  ada.write('two')
  ada.leave()
  await ada.ended()
  const again = start('chat.ts', 'bob')

  expect(await again.prints('ada: two')).not.toContain('ada: one')
})

test('the tail follows the room, and goes on from a marker that it printed', async () => {
  const start = await setup()
  const ada = start('chat.ts', 'ada')
  ada.write('one')
  ada.write('two')
  const tail = start('tail.ts')

  const [, marker = ''] = /^(\S+) ada: one$/m.exec(await tail.prints('ada: two')) ?? []
  const later = start('tail.ts', marker)

  expect(await later.prints('ada: two')).not.toContain('ada: one')
  tail.interrupt()
  expect(await tail.ended()).toMatchObject({ code: 0, errors: '' })
})
