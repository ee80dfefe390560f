import { expect, test } from 'vitest'
import { StartError } from './process/environment.ts'
import { readSettings } from './settings.ts'

test('an empty environment means loopback, port 8080 and the default directory', () => {
  expect(readSettings({})).toEqual({
    host: '127.0.0.1',
    port: 8080,
    namespace: 'perilune',
    directory: '.perilune',
    logLevel: 'info',
  })
  expect(readSettings({ PORT: '', HOST: '' })).toEqual(readSettings({}))
})

test('given settings are used', () => {
  const environment = {
    HOST: '::1',
    PORT: '0',
    PERILUNE_NAMESPACE: 'shop',
    PERILUNE_DATA: '/var/lib/perilune',
    LOG_LEVEL: 'silent',
  }
  expect(readSettings(environment)).toEqual({
    host: '::1',
    port: 0,
    namespace: 'shop',
    directory: '/var/lib/perilune',
    logLevel: 'silent',
  })
})

test.each([
  ['PORT', 'http'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '80.5'],
  ['PERILUNE_NAMESPACE', 'a b'],
  ['PERILUNE_NAMESPACE', 'x'.repeat(65)],
  ['LOG_LEVEL', 'loud'],
])('%s=%s is rejected in one line that names it', (name, value) => {
  const read = (): unknown => readSettings({ [name]: value })
  expect(read).toThrow(StartError)
  expect(read).toThrow(new RegExp(`^${name} must be [^\n]*$`))
})
