// The page of the voting example, as a browser shows it.

import { expect, test } from 'vitest'
import { barriersOf, openPage } from '../browser/open-page.ts'
import { redisServer, serve } from './voting.ts'

test('a voter on the page sees the vote count, live, and SQL agree', async () => {
  const { url } = await serve(await redisServer())
  const { page, errors } = await openPage(url)
  const kepler = page.getByRole('row', { name: /^Kepler/ })
  const status = page.getByRole('status')
  await expect.poll(() => page.locator('#sql').textContent()).toBe('Redis and SQL agree.')

  await page.getByRole('button', { name: 'Vote for Kepler' }).click()
  await expect.poll(() => status.textContent()).toBe('Your vote for Kepler counts.')
  await expect.poll(() => kepler.locator('.votes').textContent()).toBe('1')
  await page.getByRole('button', { name: 'Vote for Kepler' }).click()
  await expect.poll(() => status.textContent()).toBe('You had voted for Kepler before.')

  // Others are seen without a click.
  await fetch(`${url}/items/4/votes`, { method: 'POST', body: '{"user": "ada"}' })
  await expect.poll(() => kepler.locator('.votes').textContent()).toBe('2')
  await expect.poll(() => page.locator('#total').textContent()).toBe('2')
  await expect.poll(() => page.locator('#waiting').textContent()).toBe('0')
  await expect.poll(() => page.locator('#sql').textContent()).toBe('Redis and SQL agree.')
  expect(errors).toEqual([])
})

test('the page reports that the service is unreachable', async () => {
  const redis = await redisServer()
  const first = await serve(redis)
  const { page } = await openPage(first.url)
  await expect.poll(() => page.locator('#sql').textContent()).toBe('Redis and SQL agree.')
  first.program.interrupt()
  await first.program.ended()

  await expect
    .poll(() => page.locator('#sql').textContent())
    .toBe('The service does not answer. Trying again.')
})

test.each(['light', 'dark'] as const)(
  'the page has no accessibility errors found by axe, %s',
  async (scheme) => {
    const { url } = await serve(await redisServer())
    const { page } = await openPage(url, scheme)
    await expect.poll(() => page.getByRole('button').count()).toBeGreaterThan(0)

    expect(await barriersOf(page)).toEqual([])
  },
)
