// A flush writes what was pending when it began, and ends, whatever the clock of the server does.

import { SinkError } from 'perilune'
import { expect, test } from 'vitest'
import { setup } from '../../test/counters-fixture.ts'
import { until } from '../../test/servers/ask.ts'
import type { Sink } from './sink.ts'

/** Runs `happen` while a batch is being applied. */
function during(sink: Sink, happen: () => Promise<void>): void {
  const { apply } = sink
  Object.assign(sink, {
    async apply(...args: Parameters<typeof apply>) {
      await happen()
      return apply(...args)
    },
  })
}

test('writes what was pending at its start, though a clock that stepped back passes its time meanwhile', async () => {
  const { counters, stored, clock } = await setup({ fsyncGrace: '50ms' })
  await counters.increment(1)
  await clock.advance(-500)

  const flushing = counters.flush()
  await until('it is sealed', async () => (await counters.inspect()).partitions[0]?.pending === 0)
  await clock.advance(1000)

  expect(await flushing).toMatchObject({ batches: 1 })
  expect(stored(1)).toBe(1)
})

test.each([1, 1000])(
  'writes each batch that was pending at its start, though such a clock passes their time between batches of %i',
  async (batchSize) => {
    const { counters, another, stored, sink, clock } = await setup({ batchSize })
    await counters.increment(0)
    let stops = true
    let isPast = false
    during(sink, async () => {
      if (stops) throw new SinkError('sink-failed', 'the process stops')
      if (!isPast) await clock.advance(1000)
      isPast = true
    })
    await counters.flush().catch(() => undefined)
    stops = false
    await counters.incrementMany([1, 2, 3].map((id) => ({ id })))
    await clock.advance(-500)

    await another().flush()

    expect([0, 1, 2, 3].map(stored)).toEqual([1, 1, 1, 1])
  },
)
