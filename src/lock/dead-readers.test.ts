import { expect, test } from 'vitest'
import { setup } from '../../test/lock-fixture.ts'

test('after a backward clock step, readers whose leases ended before an exclusive lock stay expired, however many', async () => {
  const { lock, clock } = await setup({ lease: '3s' })
  const granted = await Promise.all(Array.from({ length: 1500 }, () => lock.shared.acquireDetached()))
  await clock.advance(4000)
  const alone = await lock.tryAcquire()
  await alone?.release()
  await clock.advance(-3500)

  const one = await lock.shared.acquireDetached()
  const last = granted.at(-1)
  if (one.status !== 'granted' || last?.status !== 'granted') throw new Error('not granted')

  await expect(lock.shared.byToken.extend(last.token, '1h')).rejects.toThrow('is over')
  await lock.shared.byToken.release(one.token)
  expect(await lock.inspect()).toMatchObject({ mode: 'free', holders: [] })
})
