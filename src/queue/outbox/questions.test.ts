import { expect, test } from 'vitest'
import { instance } from '../../../test/instance.ts'
import { type Payloads, until } from '../../../test/queue-fixture.ts'

const OTHERS = 20

test('who enqueues a child waits until its own parent was asked after, and not as long as other children come', async () => {
  const { redis, driver, name } = instance()
  const queue = redis.queue<Payloads>(name)
  let [children, asked] = [0, 0]
  const enqueueChild = async (): Promise<void> => {
    children += 1
    const parents = [{ queue: `${name} of parents`, id: `parent ${children}` }]
    await queue.enqueue('mail', { to: 'child' }, { parents })
  }
  const { run } = driver
  driver.run = async (call) => {
    // Before the queue of the parents answers, there is one more to be asked after.
    if (call.script.name === 'queue/watch' && children < OTHERS) {
      const before = asked
      void enqueueChild()
      await until(() => asked > before)
    }
    const reply = await run(call)
    if (call.script.name === 'queue/ask') setTimeout(() => (asked += 1), 5)
    return reply
  }

  await enqueueChild()

  expect(children).toBeLessThan(OTHERS)
  await until(async () => (await queue.inspect()).blocked === 0)
})
