import { expect, test } from 'vitest'
import { instance } from '../../../test/instance.ts'
import { type Payloads, until } from '../../../test/queue-fixture.ts'

const OTHERS = 20

test('enqueueing a dependent waits until its own dependency was asked about, not for those of other dependents', async () => {
  const { redis, driver, name } = instance()
  const queue = redis.queue<Payloads>(name)
  let [dependents, asked] = [0, 0]
  const enqueueDependent = async (): Promise<void> => {
    dependents += 1
    const dependencies = [{ queue: `${name} of dependencies`, id: `dependency ${dependents}` }]
    await queue.enqueue('mail', { to: 'dependent' }, { dependsOn: dependencies })
  }
  const { run } = driver
  driver.run = async (call) => {
    // Before the queue of the dependencies answers, there is one more question.
    if (call.script.name === 'queue/watch' && dependents < OTHERS) {
      const before = asked
      void enqueueDependent()
      await until(() => asked > before)
    }
    const reply = await run(call)
    if (call.script.name === 'queue/ask') setTimeout(() => (asked += 1), 5)
    return reply
  }

  await enqueueDependent()

  expect(dependents).toBeLessThan(OTHERS)
  await until(async () => (await queue.inspect()).blocked === 0)
})
