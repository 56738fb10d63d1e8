// An email provider that is asked by key: it delivered what is listed, and nothing else.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const DELIVERED: Record<string, string> = { 'invoice-email:45': 'msg-0002' };

export interface Provider {
  url: string;
  close(): void;
}

export async function provider(): Promise<Provider> {
  const server = createServer((request, response) => {
    const key = decodeURIComponent(request.url!.slice('/emails/'.length));
    const id = DELIVERED[key];
    response.statusCode = id ? 200 : 404;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(id ? { messageId: id } : {}));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: () => void server.close() };
}
