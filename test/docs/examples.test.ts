import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../servers/ports.ts'
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

test('in the chat room each user sees the messages of the others, and not their own', async () => {
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

test('a user who returns to the chat room gets the missed messages, once', async () => {
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

test('the tail follows the room, and continues from a cursor that it printed', async () => {
  const start = await setup()
  const ada = start('chat.ts', 'ada')
  ada.write('one')
  ada.write('two')
  const tail = start('tail.ts')

  const [, cursor = ''] = /^(\S+) ada: one$/m.exec(await tail.prints('ada: two')) ?? []
  const later = start('tail.ts', cursor)

  expect(await later.prints('ada: two')).not.toContain('ada: one')
  tail.interrupt()
  expect(await tail.ended()).toMatchObject({ code: 0, errors: '' })
})

test('a webhook that two processes receive charges once, and another amount is rejected', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const start = (amount: string): Program =>
    startProgram(['examples/once/webhook.ts', 'order-1', amount], redis.url)

  const [first, second] = await Promise.all([start('5').ended(), start('5').ended()])
  const other = await start('6').ended()

  expect(`${first.out}${second.out}`.match(/charging/g)).toHaveLength(1)
  expect(first.out.replace(/^charging.*\n/, '')).toBe(second.out.replace(/^charging.*\n/, ''))
  expect(other.out).toBe('order-1 came with another amount before\n')
})

test.each(['hono', 'express', 'fastify'])(
  'the service on %s accepts an order once, and creates its products once',
  async (framework) => {
    const redis = await startRedis()
    const port = String(await freePort())
    const service = startProgram([`examples/middleware/${framework}.ts`], redis.url, { PORT: port })
    onTestFinished(async () => {
      service.interrupt()
      await service.ended()
      await redis.stop()
    })
    await service.prints(`listening on http://127.0.0.1:${port}/orders`)
    const order = (item: number): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/orders`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': '"k1"' },
        body: JSON.stringify({ item }),
      })

    const first = await order(1)
    const again = await order(1)

    expect([first.status, again.status, (await order(2)).status]).toEqual([201, 201, 422])
    expect(await again.text()).toBe(await first.text())
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.headers.get('ratelimit')).toContain('r=8')

    const products = (): Promise<Response> => fetch(`http://127.0.0.1:${port}/products`)
    const made = await (await products()).text()
    const kept = await products()
    expect(kept.headers.get('cache-status')).toContain('hit')
    expect(await kept.text()).toBe(made)
  },
)
