#include "view/svg.h"

#include <gtest/gtest.h>

namespace assay::svg_test {
namespace {

TEST(XmlText, EscapesWhatXmlReserves) { EXPECT_EQ(xml_text("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;"); }

TEST(XmlText, ReplacesWhatXmlForbids) {
  EXPECT_EQ(xml_text(std::string_view("\0\x1b\t\x7f", 4)), "??\t\x7f");
  EXPECT_EQ(xml_text("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(xml_text("\xff\xc3(\xed\xa0\x80\xc0\x80\xe2\x82"),
            std::string(2, '?') + "(" + std::string(7, '?'));
}

TEST(PictureFileName, CannotLeaveItsFolder) {
  EXPECT_EQ(picture_file_name("../a/b", ".svg"), ".._a_b.svg");
  EXPECT_EQ(picture_file_name("Absolute Error | y: (0,0:1) to (1,0:1)", ".svg"),
            "Absolute Error | y: (0,0:1) to (1,0:1).svg");
}

TEST(PictureFileName, NothingActsOnIt) {
  const std::string name = picture_file_name("<script>alert('\"`$(x);&\n\x1b[2J\xc2\x9b", ".svg");
  EXPECT_EQ(name.find_first_of("<>'\"`$;&\n\x1b\\"), name.npos) << name;
  EXPECT_TRUE(name.starts_with("_script_alert(_")) << name;
  EXPECT_EQ(name.find('\xc2'), name.npos) << name;
  EXPECT_NE(picture_file_name("a<b", ".svg"), picture_file_name("a>b", ".svg"))
      << "one would replace the other";
}

TEST(PictureFileName, LongTitlesAreCutButStayDifferent) {
  const std::string title(1000, 'x');
  const std::string a = picture_file_name(title + "a", ".svg"), b = picture_file_name(title + "b", ".svg");
  EXPECT_EQ(a.size(), 200u);
  EXPECT_NE(a, b);
  EXPECT_TRUE(a.ends_with(".svg"));
  std::string wide;
  for (int i = 0; i < 100; ++i) wide += "\xe2\x82\xac";
  const std::string cut = picture_file_name(wide, ".svg");
  EXPECT_LE(cut.size(), 200u);
  EXPECT_EQ(cut[cut.find('~') - 1], '\xac') << "cut inside a character";
}

TEST(Svg, IsOneSelfContainedFile) {
  Svg svg(100, 50);
  svg.text(1, 2, 9, Svg::Anchor::kMiddle, "a<b");
  svg.line(0, 0, 5.5, 5);
  svg.image(0, 0, 10, 10, Image(1, 1), "tip");
  const std::string file = svg.finish();
  EXPECT_TRUE(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50\""));
  EXPECT_NE(file.find("<text x=\"1\" y=\"2\" font-size=\"9\" text-anchor=\"middle\">a&lt;b</text>\n"),
            file.npos);
  EXPECT_NE(file.find("<line x1=\"0\" y1=\"0\" x2=\"5.5\" y2=\"5\" stroke=\"black\"/>\n"), file.npos);
  EXPECT_NE(file.find("href=\"data:image/png;base64,iVBORw0KGgo"), file.npos);
  EXPECT_NE(file.find("<title>tip</title>"), file.npos);
  EXPECT_TRUE(file.ends_with("</svg>\n"));
}

}  // namespace
}  // namespace assay::svg_test
