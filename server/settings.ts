// The settings of the environment, checked before anything starts.

import { type Environment, StartError } from './process/environment.ts'

export interface ServiceSettings {
  readonly host: string
  readonly port: number
  readonly namespace: string
  /** The directory of the private engine. */
  readonly directory: string
  readonly logLevel: string
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** Throws StartError. */
export function readSettings(environment: Environment): ServiceSettings {
  const read = (name: string, byDefault: string): string => environment[name] || byDefault
  return {
    host: read('HOST', '127.0.0.1'),
    port: checkPort(read('PORT', '8080')),
    namespace: check(
      'PERILUNE_NAMESPACE',
      read('PERILUNE_NAMESPACE', 'perilune'),
      /^[A-Za-z0-9_.-]{1,64}$/,
      '1 to 64 of A-Z a-z 0-9 _ . -',
    ),
    directory: read('PERILUNE_DATA', '.perilune'),
    logLevel: check(
      'LOG_LEVEL',
      read('LOG_LEVEL', 'info'),
      new RegExp(`^(?:${LOG_LEVELS.join('|')})$`),
      `one of ${LOG_LEVELS.join(', ')}`,
    ),
  }
}

function checkPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new StartError(`PORT must be a whole number from 0 to 65535, not '${text}'`)
  return port
}

function check(name: string, value: string, pattern: RegExp, expected: string): string {
  if (!pattern.test(value)) throw new StartError(`${name} must be ${expected}, not '${value}'`)
  return value
}
