package example;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** A plain HTTP server on PORT: /km/mi/42.195 answers how many miles that is. */
public class Server {
  /** Metres of each unit. */
  private static final Map<String, Double> UNITS =
      Map.of("m", 1.0, "km", 1000.0, "mi", 1609.344, "ft", 0.3048, "nmi", 1852.0);

  public static void main(String[] arguments) throws IOException {
    int port = Integer.parseInt(System.getenv("PORT"));
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.createContext("/", Server::answer);
    server.start();
  }

  private static void answer(HttpExchange exchange) throws IOException {
    String[] parts = exchange.getRequestURI().getPath().split("/");
    try {
      double metres = UNITS.get(parts[1]) * Double.parseDouble(parts[3]);
      double value = metres / UNITS.get(parts[2]);
      log("info", "converted", parts[1], parts[2]);
      send(exchange, 200, "{\"value\":%s,\"unit\":\"%s\"}".formatted(value, parts[2]));
    } catch (RuntimeException error) {
      send(exchange, 400, "{\"error\":\"ask for /km/mi/42.195; the units are m, km, mi, ft and nmi\"}");
    }
  }

  /** A line on stdout that becomes a structured log entry. */
  private static void log(String level, String message, String from, String to) {
    System.out.printf(
        "{\"level\":\"%s\",\"message\":\"%s\",\"fields\":{\"from\":\"%s\",\"to\":\"%s\"}}%n", level, message, from, to);
  }

  private static void send(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }
}
