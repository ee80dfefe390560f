import { nowUs } from '../clock.ts'
import { between } from '../cell.ts'
import { hold } from './holding.ts'
import { repeat, type Site, type Workload } from './workload.ts'

export const WINDOW_MS = 1000
export const UNITS = 10
export const PLACES = 2
const PLACE_MS = 1000

async function take({ recorder, redis }: Site): Promise<void> {
  const limit = redis.rateLimit('window', {
    algorithm: 'sliding-window',
    limit: UNITS,
    window: `${WINDOW_MS}ms`,
  })
  await recorder.call(
    { what: 'take', key: 'window' },
    () => limit.take('u'),
    ({ allowed }) => ({ allowed }),
  )
}

/** Places are not extended: a place is held from its answer until its lease, counted from the request, is over. */
async function occupy({ recorder, redis, luck }: Site): Promise<void> {
  const places = redis.rateLimit('places', {
    algorithm: 'concurrency',
    limit: PLACES,
    lease: `${PLACE_MS}ms`,
  })
  const askedUs = nowUs()
  const got = await recorder.call(
    { what: 'occupy', key: 'places' },
    () => places.take('u'),
    ({ allowed }) => ({ allowed }),
  )
  if (got === null || !got.value.allowed) return
  const { token } = got.value
  const assertHeld = (): void => {
    if (nowUs() > askedUs + PLACE_MS * 1000) throw new Error('its lease is over')
  }
  await hold(recorder, 'places', { token, assertHeld }, between(luck, 5, 40))
  await recorder.call({ what: 'leave', key: 'places', given: { token } }, () => places.release('u', token))
}

export const rateLimit: Workload = {
  async work(site) {
    await Promise.all([repeat(site, 60, () => take(site)), repeat(site, 60, () => occupy(site))])
  },
}
