// The common part of private servers, on the machine or in a container.
import { EngineError } from './engine.ts'

/** The settings of every private server. */
export function serverArguments(env: Readonly<Record<string, string | undefined>>): string[] {
  const fsync = env['PERILUNE_FSYNC'] ?? 'everysec'
  if (fsync !== 'everysec' && fsync !== 'always')
    throw new EngineError('PERILUNE_FSYNC must be everysec or always')
  const files = ['--appendonly', 'yes', '--appendfsync', fsync, '--save', '']
  return [...files, '--maxmemory-policy', 'noeviction', '--lazyfree-lazy-expire', 'yes']
}
