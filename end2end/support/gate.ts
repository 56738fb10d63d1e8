// A way to a database that can be shut: what a server that is away looks like.

import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Gate {
  /** The database's URL through the gate. */
  url: string;
  /** Cuts every connection and takes no more. */
  shut(): void;
  open(): void;
  close(): void;
}

export async function gate(database: string): Promise<Gate> {
  const target = new URL(database);
  const { port, hostname } = target;
  const held = new Set<Socket>();
  let open = true;
  const server = createServer((client) => {
    if (!open) return void client.destroy();
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      held.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => held.delete(socket));
    }
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  target.port = String((server.address() as AddressInfo).port);
  return {
    url: target.href,
    shut() {
      open = false;
      for (const socket of held) socket.destroy();
    },
    open() {
      open = true;
    },
    close() {
      server.close();
    },
  };
}
