import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { limitNames, readLimits, variableOf, zaqarLimits } from './limits.ts'
import { StartError } from '../../process/environment.ts'
import { readZaqarSettings } from './settings.ts'

test('an empty environment means the limits of Zaqar', () => {
  expect(readLimits({})).toEqual(zaqarLimits)
  expect(readLimits({ PERILUNE_DEFAULT_PAGE: '' })).toEqual(zaqarLimits)
  expect(zaqarLimits).toMatchObject({
    maxMessagesPerPage: 20,
    maxMessageTtl: 1_209_600,
    maxQueueMetadata: 65_536,
  })
})

test('each limit has a variable of its own', () => {
  for (const name of limitNames) {
    const changed = readLimits({ [variableOf(name)]: String(zaqarLimits[name]) })
    expect(changed).toEqual(zaqarLimits)
  }
  expect(readLimits({ PERILUNE_MAX_MESSAGES_PER_PAGE: '500' }).maxMessagesPerPage).toBe(500)
})

test.each(['x', '-1', '1.5', '0x10', '99999999999', ' 5'])(
  '%j is rejected for any limit, in one line that names it',
  (value) => {
    for (const name of limitNames) {
      const read = (): unknown => readLimits({ [variableOf(name)]: value })
      expect(read).toThrow(StartError)
      expect(read).toThrow(
        new RegExp(`^${variableOf(name)} must be a whole number from \\d+ to \\d+, not [^\n]*$`),
      )
    }
  },
)

test('limits that contradict each other are rejected', () => {
  expect(() => readLimits({ PERILUNE_MAX_MESSAGE_TTL: '100' })).toThrow(
    'PERILUNE_DEFAULT_MESSAGE_TTL (3600) must not be greater than PERILUNE_MAX_MESSAGE_TTL (100)',
  )
  expect(() => readLimits({ PERILUNE_MAX_QUEUES_PER_PAGE: '5' })).toThrow(StartError)
})

test('the page about /v2 lists every limit with its variable and its default', () => {
  const page = readFileSync(new URL('../../../docs/http/zaqar.md', import.meta.url), 'utf8')
  const missing = limitNames.filter(
    (name) => !page.includes(`| \`${variableOf(name)}\` | ${zaqarLimits[name]} |`),
  )
  expect(missing).toEqual([])
})

test('addresses and the public URL are checked at the start', () => {
  const settings = readZaqarSettings({
    PERILUNE_PUBLIC_URL: 'https://queues.example.org/',
    PERILUNE_WEBHOOK_ALLOW: '10.0.0.0/8, ::1',
    PERILUNE_SIGNING_SECRET: 's',
  })
  expect(settings).toMatchObject({ publicUrl: 'https://queues.example.org', signingSecret: 's' })
  expect(settings.webhookAllow).toHaveLength(2)
  for (const url of ['queues.example.org', 'ftp://x', 'http://', 'http://x/?a']) {
    expect(() => readZaqarSettings({ PERILUNE_PUBLIC_URL: url }), url).toThrow(/^PERILUNE_PUBLIC_URL must be/)
  }
  expect(() => readZaqarSettings({ PERILUNE_WEBHOOK_ALLOW: '10.0.0.0/99' })).toThrow(
    /^PERILUNE_WEBHOOK_ALLOW must be/,
  )
})
